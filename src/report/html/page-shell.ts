// The frame of every page: one file that holds its own script and style, and may load nothing.
import { createHash } from "node:crypto";
import { escaped } from "./escape.js";
import { style } from "./generated/page.js";

/** @internal */
export interface PageParts {
  readonly command: string; // that made the page
  readonly title: string; // of the window, behind the command
  readonly heading: string;
  readonly under: string; // HTML below the heading
  readonly body: string; // HTML
  readonly script: string; // runs once the body stands
}

/** The whole page. `under` and `body` are markup already, the other texts are escaped here. @internal */
export function pageShell({ command, title, heading, under, body, script }: PageParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy(script)}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>${escaped(`${command}: ${title}`)}</title>
<style>${style}</style>
</head>
<body>
<header class="top">
<div>
<p class="kicker">unified-trace ${escaped(command)}</p>
<h1>${escaped(heading)}</h1>
<p class="run">${under}</p>
</div>
<div class="top-buttons"><button type="button" id="theme" hidden>Theme</button></div>
</header>
<main>
${body}
</main>
<script>${script}</script>
</body>
</html>
`;
}

/** What the page may do: run its own script and style, and nothing else. */
function policy(script: string): string {
  const hash = (text: string): string =>
    `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}
