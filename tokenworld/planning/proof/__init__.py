"""Proofs and reasons: certificates and their check, unwinnable worlds and the core of why."""
