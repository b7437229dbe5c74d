"""What a report is written as: Markdown, JUnit, one HTML page, and a plot."""
