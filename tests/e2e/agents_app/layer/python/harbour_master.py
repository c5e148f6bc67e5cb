MASTER = "Orla Finch"
