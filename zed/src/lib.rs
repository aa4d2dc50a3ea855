//! Starts `rubric-lint lsp` in Zed, with what the user's settings say of it.

use zed_extension_api::{
    self as zed, serde_json, settings::LspSettings, LanguageServerId, Result, Worktree,
};

const PROGRAM: &str = "rubric-lint";
const MISSING: &str =
    "rubric-lint is not on PATH. Install it with: pip install -U \"rubric-lint[lsp]\", \
    or set lsp.rubric-lint.binary.path in settings.json";

struct RubricLint;

impl zed::Extension for RubricLint {
    fn new() -> Self {
        Self
    }

    fn language_server_command(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)?
            .binary
            .unwrap_or_default();
        let command = binary
            .path
            .or_else(|| worktree.which(PROGRAM))
            .ok_or(MISSING)?;
        let mut env = worktree.shell_env();
        env.extend(binary.env.unwrap_or_default());
        Ok(zed::Command {
            command,
            args: binary.arguments.unwrap_or_else(|| vec!["lsp".to_string()]),
            env,
        })
    }

    fn language_server_initialization_options(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| serde_json::json!({ PROGRAM: settings })))
    }
}

zed::register_extension!(RubricLint);
