"""The exam: a model judged on a folder of recordings, with one label each or with annotated boxes."""
