"""`nmt train --corrections`: a model learns from the corrections of its translations, if they do it good."""
