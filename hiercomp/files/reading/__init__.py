"""Files of scores: text tables and Parquet, small and large, from bytes to checked columns."""
