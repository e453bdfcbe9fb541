// Filters and sorts a long list. Reads and changes only the page itself. Without the script the
// list is complete, in the order of the page.
"use strict";
(() => {
  // Maximum number of rows that are shown at once: the layout of thousands of rows takes seconds.
  const SHOWN = 200;

  const control = (tools, name, element) => {
    const label = tools.appendChild(document.createElement("label"));
    label.append(name, document.createElement("br"), element);
    return element;
  };

  const list = (table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const entries = [...body.rows].map((row) => ({
      row,
      cells: [...row.cells].map((cell) => cell.textContent),
      text: row.textContent.toLowerCase(),
    }));
    let order = entries;
    let isWhole = entries.length <= SHOWN;
    const tools = document.createElement("div");
    tools.className = "tools";
    const search = control(tools, "Search", document.createElement("input"));
    search.type = "search";
    const facets = heads.flatMap((head, column) => {
      if (!("facet" in head.dataset)) return [];
      const select = document.createElement("select");
      select.append(new Option("all", ""));
      [...new Set(entries.map((entry) => entry.cells[column]))].sort().forEach((value) => {
        select.append(new Option(value.slice(0, 60), value));
      });
      return [[column, control(tools, head.textContent, select)]];
    });
    const all = tools.appendChild(document.createElement("button"));
    all.type = "button";
    const status = document.createElement("p");
    status.setAttribute("role", "status");

    const show = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = facets.filter(([, select]) => select.selectedIndex > 0);
      const found = order.filter(
        (entry) =>
          words.every((word) => entry.text.includes(word)) &&
          wanted.every(([column, select]) => entry.cells[column] === select.value),
      );
      const shown = isWhole ? found : found.slice(0, SHOWN);
      body.replaceChildren(...shown.map((entry) => entry.row));
      all.hidden = shown.length === found.length;
      all.textContent = `Show all ${found.length}`;
      status.textContent = `${found.length} of ${entries.length} entries, ${shown.length} shown`;
    };
    const value = (entry, column) => {
      const exact = entry.row.cells[column].dataset.value;
      return exact === undefined ? entry.cells[column] : Number(exact);
    };
    const compare = (one, other) => {
      if (typeof one === "number" && typeof other === "number") return one - other;
      // Missing numbers are texts, and follow the numbers.
      if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
      return one < other ? -1 : one > other ? 1 : 0;
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const is = head.getAttribute("aria-sort");
        const next = is === null ? "ascending" : is === "ascending" ? "descending" : null;
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        order = entries;
        if (next !== null) {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          const keyed = entries.map((entry) => [value(entry, column), entry]);
          keyed.sort((one, other) => sign * compare(one[0], other[0]));
          order = keyed.map(([, entry]) => entry);
        }
        show();
      });
    });
    search.addEventListener("input", show);
    facets.forEach(([, select]) => select.addEventListener("change", show));
    all.addEventListener("click", () => {
      isWhole = true;
      show();
    });
    table.parentElement.before(tools, status);
    show();
  };
  document.querySelectorAll("table.list").forEach(list);
})();
