;;; tileir-mode.el --- Tile IR programs  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "29.1"))
;;; Commentary:

;; Put this file where `load-path' finds it, and (require 'tileir-mode) into the init file.  Eglot then asks
;; `tileir lsp' for everything: M-x eglot in a buffer, or the hook below.

;;; Code:

(defvar tileir-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?% "_" table)
    (modify-syntax-entry ?@ "_" table)
    table)
  "The syntax of Tile IR: comments from // to the end of the line.")

(defvar tileir-mode-font-lock
  `((,(rx (any "%") (+ (any "A-Za-z0-9_.$-"))) . font-lock-variable-name-face)
    (,(rx "@" (+ (any "A-Za-z0-9_.$"))) . font-lock-function-name-face)
    (,(rx symbol-start (or "entry" "global" "module" "for" "loop" "if" "else" "yield" "continue" "break" "return")
          symbol-end)
     . font-lock-keyword-face)
    (,(rx symbol-start (or "tile" "ptr" "token" "tensor_view" "partition_view" "strided_view" "gather_scatter_view"))
     . font-lock-type-face))
  "Colours without the language server.")

;;;###autoload
(define-derived-mode tileir-mode prog-mode "Tile IR"
  "Major mode for Tile IR."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "//+ *")
  (setq-local font-lock-defaults '(tileir-mode-font-lock)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.tileir\\'" . tileir-mode))
;;;###autoload
(add-to-list 'magic-mode-alist '("\\(?:[ \t\n]*//.*\n\\)*[ \t\n]*cuda_tile\\.module" . tileir-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(tileir-mode . ("tileir" "lsp"))))

(add-hook 'tileir-mode-hook #'eglot-ensure)

(provide 'tileir-mode)
;;; tileir-mode.el ends here
