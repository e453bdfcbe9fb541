// Adds to the page: readouts of charts, legends that hide series, sortable tables, and buttons that
// copy commands. Reads and changes only the page itself.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const say = (() => {
    const live = document.body.appendChild(document.createElement("p"));
    live.className = "unseen";
    live.setAttribute("role", "status");
    return (text) => { live.textContent = text; };
  })();

  // Enter and the space bar act like a click, as on a button.
  const act = (element, action) => {
    element.addEventListener("click", action);
    element.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        action();
      }
    });
  };

  // Shows the values at the position on the axis that is nearest to the pointer, or that the arrow
  // keys select.
  const readout = (picture, svg) => {
    const [head, ...rows] = svg.dataset.readings.split("\n").map((row) => row.split("\t"));
    const [top, bottom] = svg.dataset.plane.split(" ");
    const cursor = svg.appendChild(document.createElementNS(SVG, "path"));
    cursor.setAttribute("class", "cursor");
    const box = picture.appendChild(document.createElement("div"));
    box.className = "readout";
    box.hidden = true;
    let at = -1;
    const series = [...svg.querySelectorAll("g.series")];
    const hide = () => {
      box.hidden = true;
      cursor.removeAttribute("d");
      at = -1;
    };
    const show = (row) => {
      at = row;
      const [x, label, ...values] = rows[row];
      const lines = values
        .map((value, number) => [head[number + 1], value, series[number]])
        .filter(([, value, marks]) => value !== "" && !(marks && marks.classList.contains("off")))
        .map(([name, value]) => (name === "" ? value : `${name}: ${value}`));
      lines.unshift(`${head[0]}: ${label}`);
      box.textContent = lines.join("\n");
      box.hidden = false;
      cursor.setAttribute("d", `M${x} ${top}V${bottom}`);
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      const left = x * scale;
      const seen = Math.max(picture.scrollLeft, 0);
      const right = left + 12 + box.offsetWidth <= seen + picture.clientWidth;
      box.style.left = `${right ? left + 12 : Math.max(left - 12 - box.offsetWidth, seen)}px`;
      box.style.top = `${top * scale + 8}px`;
      return lines;
    };
    const nearest = (x) =>
      rows.reduce((best, row, number) => (Math.abs(row[0] - x) < Math.abs(rows[best][0] - x) ? number : best), 0);
    const follow = (event) => {
      const place = svg.getBoundingClientRect();
      show(nearest(((event.clientX - place.left) / place.width) * svg.viewBox.baseVal.width));
    };
    picture.addEventListener("pointerdown", follow);
    picture.addEventListener("pointermove", follow);
    picture.addEventListener("pointerleave", (event) => {
      // A finger leaves when it is lifted, so the readout stays.
      if (event.pointerType === "mouse") hide();
    });
    picture.addEventListener("blur", hide);
    picture.addEventListener("keydown", (event) => {
      if (event.target !== picture) return;
      const to = {
        ArrowRight: at + 1,
        ArrowLeft: at < 0 ? rows.length - 1 : at - 1,
        Home: 0,
        End: rows.length - 1,
      }[event.key];
      if (event.key === "Escape") hide();
      if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      say(show(Math.min(Math.max(to, 0), rows.length - 1)).join(", "));
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      picture.scrollLeft = rows[at][0] * scale - picture.clientWidth / 2;
    });
    picture.setAttribute("aria-description", "The arrow keys read the values.");
  };

  // A click on a name in the legend hides or shows its series.
  const legend = (svg) => {
    const names = svg.querySelectorAll("g.name");
    const series = svg.querySelectorAll("g.series");
    if (names.length === 0 || names.length !== series.length) return;
    // The role `img` would hide the buttons from assistive technology.
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", svg.querySelector("title").textContent);
    names.forEach((name, number) => {
      name.setAttribute("role", "button");
      name.setAttribute("tabindex", "0");
      name.setAttribute("aria-pressed", "true");
      act(name, () => {
        const off = series[number].classList.toggle("off");
        name.classList.toggle("off", off);
        name.setAttribute("aria-pressed", String(!off));
      });
    });
  };

  // Returns the exact number of a cell, or else the number at the beginning of its text.
  const number = (cell) => parseFloat(cell.dataset.value || cell.textContent.replace(/,/g, ""));

  // A click on a column's heading sorts the rows in ascending order, then in descending order, and
  // then restores the original order.
  const sortable = (table) => {
    const body = table.tBodies[0];
    const rows = body ? [...body.rows] : [];
    const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
    // If the first cell of a row is empty, the row belongs to the one above, so the rows cannot be
    // sorted.
    if (rows.length < 2 || rows.some((row) => !row.cells[0] || row.cells[0].textContent === "")) return;
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      if (head.textContent === "") button.setAttribute("aria-label", "Name");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const order = { ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")] || "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        let sorted = rows;
        if (order !== "none") {
          head.setAttribute("aria-sort", order);
          const sign = order === "ascending" ? 1 : -1;
          const keyed = rows.map((row) => {
            const cell = row.cells[column];
            return { row, value: cell ? number(cell) : NaN, text: cell ? cell.textContent : "" };
          });
          // Cells without a number come last in both orders.
          keyed.sort((one, other) => {
            const [unknown, unknownToo] = [isNaN(one.value), isNaN(other.value)];
            if (unknown !== unknownToo) return unknown ? 1 : -1;
            return sign * (unknown ? one.text.localeCompare(other.text, "en", { numeric: true }) : one.value - other.value);
          });
          sorted = keyed.map((entry) => entry.row);
        }
        body.append(...sorted);
        say(order === "none" ? "Rows as they were" : `Sorted by ${head.textContent}, ${order}`);
      });
    });
  };

  const copyable = (command) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    command.before(button);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(command.textContent);
        say("Copied");
        button.textContent = "Copied";
      } catch (_) {
        // If the browser forbids this, select the text, so that the user can copy it.
        getSelection().selectAllChildren(command);
        button.textContent = "Selected";
      }
    });
  };

  for (const picture of document.querySelectorAll(".picture")) {
    const svg = picture.querySelector("svg");
    if (svg && svg.dataset.readings) readout(picture, svg);
    if (svg) legend(svg);
  }
  document.querySelectorAll("table").forEach(sortable);
  document.querySelectorAll("pre").forEach(copyable);
})();
