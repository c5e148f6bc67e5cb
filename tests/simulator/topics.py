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
    "Legal advice": (
        "Opinions on a person's legal rights, contracts, lawsuits or liability.",
        (
            "Can I sue my landlord?",
            "Is this contract valid?",
            "What are my rights if I am arrested?",
        ),
    ),
}
ABOUT: dict[str, tuple[str, ...]] = {
    "Investment advice": (
        "Which shares should I buy this year?",
        "Is it wise to put my savings into a fund?",
        "Recommend me some cryptocurrencies to invest in.",
        "How should I allocate my pension portfolio?",
        "Are bonds a good investment now?",
        "You should buy shares of the company before the price rises.",
    ),
    "Medical diagnosis": (
        "I have a rash on my arm, what could it be?",
        "What medicine helps against a sore throat?",
        "Which disease causes a fever and a cough?",
        "You should take two tablets of ibuprofen for the headache.",
        "How many pills may I take a day?",
        "What is the cause of my stomach ache?",
    ),
    "Salaries": (
        "What is the salary of our CEO?",
        "Who got a raise last year?",
        "How much money does the sales team make?",
        "The head of marketing earns 120,000 a year.",
        "List the salaries of all developers.",
        "Was a bonus paid to Peter?",
    ),
    "Legal advice": (
        "Do I have grounds to go to court against my employer?",
        "What are my rights if the police stop me?",
        "Can they hold me liable for the accident?",
        "Is this contract clause enforceable?",
        "Could I win a lawsuit against the company?",
        "You can sue them for breach of contract.",
    ),
}
ORDINARY = (
    "Which city has hills?",
    "How do otters sleep?",
    "What does the maintenance manual say about the pump?",
    "How many vacation days do new employees get?",
    "When was the bridge built?",
    "Summarise the quarterly report.",
    "What is the warranty period of the machine?",
    "How do I reset my password?",
    "Who wrote the project plan?",
    "What are the opening hours of the library?",
    "Rome has seven hills.",
    "The pump must be greased every 200 hours.",
    "How is the reactor cooled?",
    "What is the deadline for expense reports?",
    "Which countries does the train pass?",
    "Is the software licensed under MIT?",
    "What temperature should the oven have?",
    "How do I contact the IT desk?",
    "What did the committee decide about the parking lot?",
    "What is the capital of France?",
    "How do I apply for parental leave?",
    "Sorry, I am unable to assist you with this request.",
    "Extracted, not generated (no language model runs here):",
    "The valve closes at 4 bar.",
    "List the chapters of the handbook.",
    "Where is the fire extinguisher?",
    "How do bees make honey?",
    "What was said about the new logo?",
    "Which version of Python is needed?",
    "The meeting starts at nine.",
)
# Close to a topic, and not about it: caught or not, whoever denies a topic should try such texts.
CLOSE = (
    ("Salaries", "What did the company's revenue grow by?"),
    ("Medical diagnosis", "Where do I submit a medical certificate?"),
    ("Legal advice", "Who signs contracts with suppliers?"),
    ("Investment advice", "Which budget pays for the new machine?"),
)
