from once import trainings_share_graphs

__all__ = ["trainings_share_graphs"]
