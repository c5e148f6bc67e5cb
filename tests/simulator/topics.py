"""Denied topics, texts that are about them, and texts that are about nothing of the kind."""

TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Investment advice": (
        "Inquiries, guidance or recommendations about the management or allocation of funds or"
        " assets with the goal of generating returns.",
        (
            "Is investing in stocks better than bonds?",
            "Should I invest in gold?",
            "Which fund brings the best return?",
        ),
    ),
    "Salaries": (
        "What employees of the company earn: their salaries, bonuses and raises.",
        ("What does Anna earn?", "How high is the director's bonus?", "Who got a raise?"),
    ),
}
ABOUT: dict[str, tuple[str, ...]] = {
    "Investment advice": (
        "Which shares should I buy this year?",
        "How should I allocate my pension portfolio?",
        "You should buy shares of the company before the price rises.",
    ),
    "Salaries": (
        "What is the salary of our CEO?",
        "The head of marketing earns 120,000 a year.",
        "Was a bonus paid to Peter?",
    ),
}
ORDINARY = (
    "Which city has hills?",
    "What does the maintenance manual say about the pump?",
    "How many vacation days do new employees get?",
    "Summarise the quarterly report.",
    "Sorry, I am unable to assist you with this request.",
    "Extracted, not generated (no language model runs here):",
    "Where is the fire extinguisher?",
)
