"""The steps of `nmt prepare`, in order: read, examine, check, split, learn subwords, encode and write."""
