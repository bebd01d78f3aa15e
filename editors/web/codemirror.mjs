// The parts of CodeMirror that the page of `tileir serve` uses; `make codemirror` bundles them.
export { EditorState, StateEffect, StateField } from "@codemirror/state";
export { EditorView, Decoration, lineNumbers, keymap } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { StreamLanguage, HighlightStyle, syntaxHighlighting, bracketMatching, indentUnit } from "@codemirror/language";
export { setDiagnostics, lintGutter } from "@codemirror/lint";
export { searchKeymap, highlightSelectionMatches } from "@codemirror/search";
export { tags } from "@lezer/highlight";
