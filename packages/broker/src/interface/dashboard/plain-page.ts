import type { Fault } from "@resource-broker/contract";
import type { PlainAnswer } from "../http/route.ts";

/** An error page without styles and scripts, for when the dashboard's pages are not available. */
export function plainPage(fault: Fault): PlainAnswer {
  const text = fault.message.charAt(0).toUpperCase() + fault.message.slice(1);
  const content = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Resource Broker</title>
</head>
<body>
<h1>Resource Broker</h1>
<p>${escaped(text)}</p>
</body>
</html>
`;
  return { status: fault.status, text: { type: "text/html; charset=utf-8", content } };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? "");
}
