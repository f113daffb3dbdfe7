"""What is measured: accuracy and speed, beside what a user would pick instead."""
