"""A model as a page that translates in a browser, and what stands in for compiled packages there."""
