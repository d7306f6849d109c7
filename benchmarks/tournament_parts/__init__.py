"""Parts of the tournament: problems, people, methods, peers in their own processes, tables and figures."""
