"""What is written in digits: amounts, times, dates, numbers; how each language writes them, and what they are worth."""
