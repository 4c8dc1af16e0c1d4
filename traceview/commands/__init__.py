"""The commands, one module each: `options(parser)` declares its words, `run(args)` does it."""

# Command, what it is for. Each is the module of that name in this package.
COMMANDS = {
    "open": "open the terminal UI (the word may be left out)",
    "demo": "open a decode trace that the program makes itself",
    "summary": "steps and kernel groups",
    "groups": "GPU work by kernel, op, module, Python line, ...",
    "launches": "single launches",
    "findings": "what stands out, with evidence",
    "gaps": "idle time by cause",
    "check": "can it be trusted, and what is missing",
    "report": "a markdown note of where the time goes",
    "compare": "what changed between two traces, per step",
    "query": "SQL over the trace's tables",
    "export": "frames as parquet or CSV, or a smaller trace",
    "cache": "what the saved indexes take; --clear removes them",
}
