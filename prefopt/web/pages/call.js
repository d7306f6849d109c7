// Requests with the token of the link in a header.
export function tokenOfPage() {
  addEventListener("hashchange", () => location.reload());
  return decodeURIComponent(location.hash.slice(1));
}

export function caller(token) {
  return async (method, path, body, read = "json") => {
    const headers = { Authorization: `Bearer ${token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const request = { method, headers, cache: "no-store", signal: AbortSignal.timeout(60000) };
    const response = await fetch(path, { ...request, body: body === undefined ? undefined : JSON.stringify(body) });
    if (response.ok) return response[read]();
    const said = await response.json().catch(() => ({}));
    const { status } = response;
    const final = status >= 400 && status < 500 && status !== 408 && status !== 429;
    throw Object.assign(new Error(said.error?.message ?? `the server answers ${status}`), { status, final });
  };
}

export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child != null));
  return node;
}
