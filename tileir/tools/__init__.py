"""Looking at programs and launches: the editor's language server, pictures, debuggers, profiles."""
