"""Watch rules, and the alerts that they raise."""
