-- Does in Neovim what a person would with the file $NVIM_FILE, and writes what came of it as JSON to $NVIM_RESULT.
local result = { servers = {}, diagnostics = {} }
local file = vim.env.NVIM_FILE

local function wait_for(what, condition)
  if not vim.wait(30000, condition, 20) then
    error("waited in vain for " .. what)
  end
end

local function diagnostics()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { each.lnum + 1, each.col + 1, each.source, each.code, each.message })
  end
  return found
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"
end

local function ask(server, method, line, column)
  local client = vim.lsp.get_clients({ bufnr = 0, name = server })[1]
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  params.position = { line = line - 1, character = column - 1 } -- past the last character, as when typing
  return client:request_sync(method, params, 30000, 0).result
end

-- Asks again until there is an answer: a server that still loads its schemas has none.
local function ask_until_answered(...)
  for _ = 1, 300 do
    local answer = ask(...)
    if answer and answer ~= vim.NIL then
      return answer
    end
    vim.wait(100)
  end
  error("asked in vain")
end

local function labels(server, line, column)
  local answer = ask(server, "textDocument/completion", line, column) or {}
  return vim.tbl_map(function(item)
    return item.label
  end, answer.items or answer)
end

local function fix(line, column)
  vim.api.nvim_win_set_cursor(0, { line, column })
  local before = text()
  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.isPreferred == true
    end,
  })
  wait_for("the fix", function()
    return text() ~= before
  end)
end

local function run()
  vim.cmd.edit(vim.fn.fnameescape(file))
  local servers = vim.split(vim.env.NVIM_SERVERS, " ")
  wait_for("the servers", function()
    return #vim.lsp.get_clients({ bufnr = 0 }) == #servers
  end)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0 })) do
    table.insert(result.servers, client.name)
  end
  wait_for("diagnostics", function()
    return #vim.diagnostic.get(0) >= tonumber(vim.env.NVIM_EXPECTED)
  end)
  result.diagnostics = diagnostics()
  if vim.env.NVIM_LENSES then
    vim.lsp.inlay_hint.enable(true)
    wait_for("hints", function()
      return #vim.lsp.inlay_hint.get({ bufnr = 0 }) > 0
    end)
    result.hints = vim.tbl_map(function(hint)
      return { hint.inlay_hint.position.line + 1, hint.inlay_hint.label }
    end, vim.lsp.inlay_hint.get({ bufnr = 0 }))
    vim.lsp.codelens.refresh()
    wait_for("lenses", function()
      return #vim.lsp.codelens.get(0) > 0
    end)
    local lens = vim.lsp.codelens.get(0)[1]
    vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, 0 })
    result.lens = lens.command.title
    vim.lsp.codelens.run()
    wait_for("the report", function()
      return text():sub(1, 2) == "$ "
    end)
    result.report = text()
    return
  end
  if vim.env.NVIM_RENAME then
    fix(4, 4)
    vim.fn.cursor(vim.fn.search("id: accuracy", "w"), vim.fn.col(".") + 4)
    local before = text()
    vim.lsp.buf.rename(vim.env.NVIM_RENAME)
    wait_for("the rename", function()
      return text() ~= before
    end)
    vim.cmd.wall()
    return
  end
  if vim.env.NVIM_YAML then
    result.hover = ask_until_answered("yamlls", "textDocument/hover", 4, 5).contents.value
    result.offered = labels("yamlls", 6, 5)
    result.offered_by_us = labels("rubric_lint", 6, 5)
    return
  end
  result.hover = ask("rubric_lint", "textDocument/hover", 5, 9).contents.value
  fix(5, 8)
  vim.cmd.write()
end

local fine, why = pcall(run)
result.fault = not fine and tostring(why) or nil
vim.fn.writefile({ vim.json.encode(result) }, vim.env.NVIM_RESULT)
vim.cmd("qall!")
