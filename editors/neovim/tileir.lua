-- Neovim 0.11 or newer: put this file into ~/.config/nvim/plugin/.
-- A file .mlir is Tile IR if it says so near its beginning; other dialects keep their own file type.
local function looks_like_tile_ir(path, buffer)
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, 50, false), "\n")
  if text:find("cuda_tile") or text:find("%f[%w]entry%s*@") then
    return "tileir"
  end
  return "mlir"
end

vim.filetype.add({ extension = { tileir = "tileir", mlir = looks_like_tile_ir } })
vim.lsp.config("tileir", {
  cmd = { "tileir", "lsp" },
  filetypes = { "tileir" },
  root_markers = { "tileir_launches.json", ".git" },
})
vim.lsp.enable("tileir")

-- With nvim-dap, a launch names program, grid and arguments.
local has_dap, dap = pcall(require, "dap")
if has_dap then
  dap.adapters.tileir = { type = "executable", command = "tileir", args = { "debug", "--dap" } }
  dap.configurations.tileir = {
    {
      type = "tileir",
      request = "launch",
      name = "Tile IR launch",
      program = "${file}",
      grid = function()
        return vim.fn.input("grid: ", "1")
      end,
      arguments = function()
        return vim.split(vim.fn.input("arguments: "), " ", { trimempty = true })
      end,
    },
  }
end
