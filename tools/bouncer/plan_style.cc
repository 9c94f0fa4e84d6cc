#include "plan_style.h"

namespace bouncer::tool {

const std::string_view plan_style = R"css(
:root { color-scheme: light dark; --page: #f4f5f7; --card: #ffffff; --ink: #1b2430; --soft: #5c6878; --rule: #dfe3e8;
  --grid: #e9ecf0; --accent: #1d5fd1; --wash: #eaf1fd;
  --h0: #1d5fd1; --h1: #d6301f; --h2: #0a8f5b; --h3: #d98200; --h4: #7a3fc8; --h5: #0891b2; --h6: #cf2a86; --h7: #6b8e00; --h8: #7d5a3c; }
@media (prefers-color-scheme: dark) {
  :root { --page: #11151b; --card: #1a2029; --ink: #e6eaf0; --soft: #98a4b5; --rule: #2d3643; --grid: #262e39;
    --accent: #7db0ff; --wash: #1d2b42;
    --h0: #6ea8ff; --h1: #ff7a6b; --h2: #41cf94; --h3: #ffb84d; --h4: #b78bff; --h5: #4fd0ea; --h6: #ff80c0; --h7: #b9d84a; --h8: #d0a583; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 36px 20px 60px; }
header h1 { margin: 0 0 6px; font-size: 30px; line-height: 1.2; letter-spacing: -0.01em; }
header p { margin: 0; color: var(--soft); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(172px, 1fr)); gap: 12px; margin: 24px 0; padding: 0; }
.facts div, section { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; }
.facts div { padding: 14px 16px; }
.facts dt { color: var(--soft); font-size: 13px; }
.facts dd { margin: 2px 0 0; font-size: 19px; font-weight: 650; white-space: nowrap; }
section { padding: 20px 24px 22px; margin: 18px 0; }
h2 { margin: 0 0 4px; font-size: 20px; }
section p { margin: 0 0 12px; color: var(--soft); max-width: 76ch; }
section p b, section p em { color: var(--ink); }
.advice { border-left: 5px solid var(--h3); }
.scroll { overflow-x: auto; }
.scroll > svg { display: block; width: 100%; min-width: 620px; height: auto; }
svg text { font: 12.5px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--soft); }
svg .title { fill: var(--ink); font-size: 13px; }
svg .note, svg .value { fill: var(--ink); font-size: 12.5px; font-weight: 600; }
svg .note { paint-order: stroke; stroke: var(--card); stroke-width: 4px; stroke-linejoin: round; }
.grid { stroke: var(--grid); } .frame { stroke: var(--soft); }
.mark { stroke: var(--ink); stroke-width: 1.4; stroke-dasharray: 2 4; }
.line { fill: none; stroke: var(--c); stroke-width: 1.9; stroke-linejoin: round; }
.line.dashed { stroke-dasharray: 8 4; } .line.dotted { stroke-dasharray: 2 4; stroke-linecap: round; }
.line.planned { stroke-width: 4; }
.line.bound { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 1 3; }
.hit { fill: none; stroke: transparent; stroke-width: 12; pointer-events: stroke; }
.dot { fill: var(--card); stroke: var(--c); stroke-width: 2.2; }
.bar { fill: var(--c); }
.faint { opacity: 0.12; }
.h0 { --c: var(--h0); } .h1 { --c: var(--h1); } .h2 { --c: var(--h2); } .h3 { --c: var(--h3); } .h4 { --c: var(--h4); }
.h5 { --c: var(--h5); } .h6 { --c: var(--h6); } .h7 { --c: var(--h7); } .h8 { --c: var(--h8); }
.legend { display: flex; flex-wrap: wrap; gap: 6px 20px; margin: 10px 0 0; padding: 0; list-style: none; font-size: 14px; }
.legend li { display: flex; align-items: center; gap: 8px; cursor: default; }
.legend svg { width: 34px; height: 12px; flex: none; }
table { border-collapse: collapse; width: 100%; min-width: 720px; font-size: 14px; font-variant-numeric: tabular-nums; }
th { text-align: right; color: var(--soft); font-weight: 500; padding: 6px 10px; border-bottom: 1px solid var(--rule); white-space: nowrap; }
td { text-align: right; padding: 7px 10px; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left; }
td:last-child { white-space: normal; color: var(--soft); min-width: 190px; }
tr.planned td { background: var(--wash); color: var(--ink); font-weight: 600; }
tr.not td { color: var(--soft); }
pre { margin: 0 0 10px; padding: 12px 14px; background: var(--page); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto;
  font: 13.5px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
footer { color: var(--soft); font-size: 13px; margin-top: 24px; }
#tip { position: fixed; z-index: 2; max-width: 320px; padding: 7px 11px; border-radius: 8px; background: var(--ink); color: var(--card);
  font-size: 13px; line-height: 1.4; pointer-events: none; opacity: 0; transition: opacity 0.1s; }
@media (max-width: 600px) { main { padding: 22px 12px 40px; } section { padding: 16px 14px; } header h1 { font-size: 24px; } .facts dd { font-size: 18px; } }
@media print { body { background: none; } section, .facts div { break-inside: avoid; } }
)css";

const std::string_view plan_script = R"js(
const tip = document.getElementById("tip");
for (const each of document.querySelectorAll("[data-t]")) {
  each.addEventListener("mousemove", (event) => {
    tip.textContent = each.dataset.t;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const above = event.clientY + 18 + tip.offsetHeight > innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (above ? event.clientY - tip.offsetHeight - 12 : event.clientY + 16) + "px";
    tip.style.opacity = 1;
  });
  each.addEventListener("mouseleave", () => { tip.style.opacity = 0; });
}
for (const entry of document.querySelectorAll("[data-k]")) {
  const parts = entry.closest("section").querySelectorAll(".scroll .line, .scroll .dot");
  entry.addEventListener("mouseenter", () => {
    for (const part of parts) part.classList.toggle("faint", !part.classList.contains(entry.dataset.k));
  });
  entry.addEventListener("mouseleave", () => { for (const part of parts) part.classList.remove("faint"); });
}
)js";

} // namespace bouncer::tool
