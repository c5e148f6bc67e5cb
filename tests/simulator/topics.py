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
    "Medical diagnosis": (
        "Statements or questions that diagnose an illness, or that recommend treatments or"
        " medicines to a person.",
        (
            "What illness do I have if my head aches?",
            "Which pills should I take for a fever?",
            "Is this rash dangerous?",
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
    "Medical diagnosis": (
        "I have a rash on my arm, what could it be?",
        "Which disease causes a fever and a cough?",
        "You should take two tablets of ibuprofen for the headache.",
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
    "The pump must be greased every 200 hours.",
    "What is the deadline for expense reports?",
    "How do I apply for parental leave?",
    "Sorry, I am unable to assist you with this request.",
    "Extracted, not generated (no language model runs here):",
    "Where is the fire extinguisher?",
    "What was said about the new logo?",
    "The meeting starts at nine.",
)
