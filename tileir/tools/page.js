// What pages share: their data, elements, and pictures of arrays as `view.data.ArrayValues` gives them.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const element = (tag, text, name) => Object.assign(document.createElement(tag), { textContent: text ?? "", className: name ?? "" });
const bytesOf = (text) => Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

const heat = (part) => {
  const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  const at = Math.min(3.999, Math.max(0, part) * 4), low = stops[Math.floor(at)], high = stops[Math.floor(at) + 1];
  return low.map((one, channel) => Math.round(one + (high[channel] - one) * (at % 1)));
};

function drawCells(values, canvas) {
  canvas.width = values.columns; canvas.height = values.rows;
  const pen = canvas.getContext("2d"), image = pen.createImageData(values.columns, values.rows), cells = bytesOf(values.cells);
  cells.forEach((value, cell) => image.data.set([...(value === 255 ? [200, 0, 60] : heat(value / 254)), 255], cell * 4));
  pen.putImageData(image, 0, 0);
}
