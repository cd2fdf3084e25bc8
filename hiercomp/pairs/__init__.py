"""What a tournament of many algorithms needs: fits, checkpoint, ranking, cliques."""
