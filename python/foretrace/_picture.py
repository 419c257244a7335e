"""Pictures of studies: one HTML file each that opens from disk, SVG inside, light or dark as the browser asks."""

import html

_PAGE = r"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title>
<link rel="icon" href="data:,"><style>
:root {{ color-scheme: light dark; --ground: #fbfbfa; --ink: #1b1d20; --faint: #646a73; --line: #dcdfe3; --a: #2b6cb0; --b: #c2571a; --good: #2f8f5b;
  --c4: #8a4fb3; --c5: #b8860b; --c6: #b83a5e; --c7: #3b8f95; --c8: #7a7f87; }}
@media (prefers-color-scheme: dark) {{ :root {{ --ground: #15171a; --ink: #e6e8eb; --faint: #9aa2ac; --line: #343a41; --a: #72aef0; --b: #f0975c; --good: #63c48e;
  --c4: #c297e6; --c5: #dcb446; --c6: #ec7f9f; --c7: #6fc5cc; --c8: #9aa2ac; }} }}
body {{ margin: 0 auto; max-width: 1100px; padding: 20px; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }}
h1 {{ font-size: 20px; margin: 0 0 6px; overflow-wrap: anywhere; }} p {{ margin: 4px 0 10px; }} .faint {{ color: var(--faint); fill: var(--faint); }}
svg {{ display: block; width: 100%; height: auto; }} svg text {{ fill: var(--ink); font-family: inherit; font-size: 13px; }} svg text.faint {{ fill: var(--faint); }}
svg line {{ stroke: var(--line); }} table {{ border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }}
td, th {{ padding: 2px 14px 2px 0; text-align: right; }} td:first-child, th:first-child {{ text-align: left; }} th {{ color: var(--faint); font-weight: 600; }}
h2 {{ font-size: 16px; margin: 22px 0 4px; }} h3 {{ font-size: 14px; margin: 8px 0 0; overflow-wrap: anywhere; }} .wide {{ overflow-x: auto; }}
.charts {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(440px, 1fr)); gap: 14px 30px; }} .charts p {{ font-size: 13px; margin: 0; }}
.rows {{ overflow: auto; max-height: 560px; border: 1px solid var(--line); border-radius: 6px; padding: 0 10px; }} .rows table {{ width: 100%; }}
.rows thead th {{ position: sticky; top: 0; background: var(--ground); padding-top: 6px; }} .rows :is(td, th):last-child {{ padding-right: 0; }}
th button {{ all: unset; cursor: pointer; }} th button:focus-visible {{ outline: 2px solid var(--good); }} th.t, td.t {{ text-align: left; }}
th[aria-sort=ascending] button::after {{ content: " \25b4"; }} th[aria-sort=descending] button::after {{ content: " \25be"; }}
i {{ display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin: 0 5px 0 12px; }}
</style></head><body>
<h1>{title}</h1>
{body}
</body></html>
"""


def _page(title: str, body: str) -> str:
    return _PAGE.format(title=html.escape(title), body=body)


def tornado(found, rows: int) -> str:
    """A bar per key from the launch's cycles at its lowest to those at its highest value, the widest on top."""
    shown = [move for move in found.moves[:rows] if move.swing() > 0]
    (low, high) = found.band()
    text = (f"<p>{found.cycles:,} cycles. Where the assumed, fitted and transferred numbers of stated ranges are independent of each other, the launch "
            f"takes <b>{low:,.0f} to {high:,.0f}</b> ({100 * (low / found.cycles - 1):+.1f}% to {100 * (high / found.cycles - 1):+.1f}%).</p>")
    if not shown:
        return _page(f"{found.trace} on {found.arch}", text + "<p>None of the keys moves it.</p>")
    ends = [cycles for move in shown for cycles in (move.cycles_low, move.cycles_high)] + [found.cycles, low, high]
    least, most = min(ends), max(ends)
    width, left, right, step, top = 1060, 300, 1040, 26, 34

    def x(cycles) -> float:
        return left + (cycles - least) / max(1, most - least) * (right - left)

    height = top + step * len(shown) + 30
    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="How much each key moves the launch">',
             f'<rect x="{x(low):.1f}" y="{top - 8}" width="{max(1, x(high) - x(low)):.1f}" height="{step * len(shown) + 8}" fill="var(--good)" opacity=".13"/>',
             f'<line x1="{x(found.cycles):.1f}" x2="{x(found.cycles):.1f}" y1="{top - 10}" y2="{height - 26}" style="stroke:var(--ink)"/>']
    for cycles in sorted({least, found.cycles, most}):
        anchor = "start" if x(cycles) < left + 40 else "end" if x(cycles) > right - 40 else "middle"
        if cycles == found.cycles or abs(x(cycles) - x(found.cycles)) > 110:
            parts.append(f'<text x="{x(cycles):.1f}" y="{top - 16}" text-anchor="{anchor}" class="faint">{cycles:,.0f}</text>')
    for i, move in enumerate(shown):
        y = top + i * step
        label = f"{move.key}  {move.low:g} to {move.high:g}{'' if move.stated else '*'}"
        parts.append(f'<text x="{left - 10}" y="{y + 13}" text-anchor="end">{html.escape(label)}</text>')
        for cycles, colour, at in ((move.cycles_low, "--a", move.low), (move.cycles_high, "--b", move.high)):
            a, b = sorted((x(cycles), x(found.cycles)))
            parts.append(f'<rect x="{a:.1f}" y="{y + 1}" width="{max(0.5, b - a):.1f}" height="{step - 9}" fill="var({colour})" rx="2">'
                         f'<title>{html.escape(move.key)} = {at:g} {html.escape(move.unit)}: {cycles:,} cycles; {move.kind}</title></rect>')
    parts.append("</svg>")
    legend = ('<p class="faint"><i style="background:var(--a)"></i>at the lowest value<i style="background:var(--b)"></i>at the highest value'
              '<i style="background:var(--good)"></i>error band. *: no range is stated; a share below and above.</p>')
    return _page(f"What moves {found.trace} on {found.arch}", text + "".join(parts) + legend)


def pareto(title: str, cost: str, points, front, today) -> str:
    """Points of (cost, time relative to today's chip, text), those of the front joined."""
    width, height, x0, x1, y0, y1 = 1060, 460, 70, 1040, 410, 20
    costs, times = [p[0] for p in points], [p[1] for p in points]
    spread = (max(costs) - min(costs)) or 1
    low, high = min(costs) - 0.04 * spread, max(costs) + 0.04 * spread
    reach = (max(times) - min(times)) or 1
    fast, slow = min(times) - 0.06 * reach, max(times) + 0.06 * reach

    def place(p):
        return x0 + (p[0] - low) / (high - low) * (x1 - x0), y0 - (p[1] - fast) / (slow - fast) * (y0 - y1)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Time over cost">']
    for i in range(5):
        c, t = low + (high - low) * i / 4, fast + (slow - fast) * i / 4
        parts.append(f'<line x1="{x0}" x2="{x1}" y1="{place((low, t))[1]:.1f}" y2="{place((low, t))[1]:.1f}"/>'
                     f'<text x="{x0 - 8}" y="{place((low, t))[1] + 4:.1f}" text-anchor="end" class="faint">{t:.2f}</text>'
                     f'<text x="{place((c, fast))[0]:.1f}" y="{y0 + 20}" text-anchor="middle" class="faint">{c:,.4g}</text>')
    parts.append("".join(f'<circle cx="{place(p)[0]:.1f}" cy="{place(p)[1]:.1f}" r="4" fill="var(--faint)" opacity=".5"><title>{html.escape(p[2])}</title></circle>' for p in points))
    steps = "".join(f"{'M' if i == 0 else 'L'}{place(p)[0]:.1f} {place(p)[1]:.1f}" for i, p in enumerate(front))
    parts.append(f'<path d="{steps}" fill="none" stroke="var(--a)" stroke-width="2"/>')
    parts.append("".join(f'<circle cx="{place(p)[0]:.1f}" cy="{place(p)[1]:.1f}" r="6" fill="var(--a)"><title>{html.escape(p[2])}</title></circle>' for p in front))
    if today is not None:
        parts.append(f'<circle cx="{place(today)[0]:.1f}" cy="{place(today)[1]:.1f}" r="7" fill="var(--b)"><title>{html.escape(today[2])}</title></circle>')
    parts.append(f'<text x="{(x0 + x1) / 2}" y="{height - 8}" text-anchor="middle" class="faint">cost: {html.escape(cost)}</text></svg>')
    rows = "".join(f"<tr><td>{html.escape(p[2])}</td><td>{p[0]:,.4g}</td><td>{p[1]:.4f}</td></tr>" for p in front)
    legend = ('<p class="faint"><i style="background:var(--a)"></i>the front: nothing is faster for less<i style="background:var(--b)"></i>the chip as it is'
              '<i style="background:var(--faint)"></i>what else was simulated. Time: geometric mean over the works, of the chip as it is.</p>')
    return _page(title, "".join(parts) + legend + f"<table><thead><tr><th>The front</th><th>Cost</th><th>Time</th></tr></thead><tbody>{rows}</tbody></table>")
