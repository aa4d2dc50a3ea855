;;; What a person would do in Emacs with the file $EMACS_FILE; what came of it is written as JSON to $EMACS_RESULT. -*- lexical-binding: t -*-
(require 'cl-lib)
(require 'json)

(defvar result nil)

(defun wait-for (what condition)
  (let ((end (+ (float-time) 30)))
    (while (not (funcall condition))
      (when (> (float-time) end)
        (error "Waited in vain for %s" what))
      (accept-process-output nil 0.02))))

(defun place (position)
  (save-excursion
    (goto-char position)
    (vector (line-number-at-pos) (1+ (- (point) (line-beginning-position))))))

(defun sorted-diagnostics ()
  (sort (flymake-diagnostics)
        (lambda (one other) (< (flymake-diagnostic-beg one) (flymake-diagnostic-beg other)))))

(defun note (name value)
  (setq result (append result (list (cons name value)))))

(defun session ()
  (find-file (getenv "EMACS_FILE"))
  (run-hooks 'post-command-hook) ; after which eglot-ensure connects
  (wait-for "the server" #'eglot-current-server)
  (wait-for "diagnostics"
            (lambda () (= (length (flymake-diagnostics)) (string-to-number (getenv "EMACS_EXPECTED")))))
  (note 'diagnostics (vconcat (mapcar (lambda (each) (vconcat (place (flymake-diagnostic-beg each))
                                                              (list (flymake-diagnostic-text each))))
                                      (sorted-diagnostics))))
  (if (getenv "EMACS_ONLY_SAVE")
      (progn (set-buffer-modified-p t) (save-buffer))
    (fix-and-rename)))

(defun fix-and-rename ()
  ;; The answers to the questions that Emacs asks: the action that it proposes, and yes.
  (cl-letf (((symbol-function 'completing-read)
             (lambda (_prompt choices &rest more)
               (note 'offered (vconcat (mapcar #'car choices)))
               (nth 4 more)))
            ((symbol-function 'y-or-n-p) (lambda (_) t)))
    (let ((last-nonmenu-event ?\r)
          (before (buffer-string)))
      (goto-char (flymake-diagnostic-beg (car (sorted-diagnostics))))
      (eglot-code-actions (point) (point) "quickfix" t)
      (wait-for "the fix" (lambda () (not (equal before (buffer-string)))))
      (save-buffer) ; without a person at the keyboard, Eglot sends changes only then
      (goto-char (point-min))
      (search-forward "id: accuracy")
      (eglot-rename "period")))
  (save-some-buffers t))

(let ((create-lockfiles nil)
      (make-backup-files nil)
      (why (condition-case fault (progn (session) nil) (error (error-message-string fault)))))
  (when why
    (note 'fault why))
  (with-temp-file (getenv "EMACS_RESULT")
    (insert (json-encode result)))
  (kill-emacs))
