// Shows /openapi.json: each operation with an example, its fields and its responses.

const source = await (await fetch("/openapi.json")).text();
const document_ = JSON.parse(source.replaceAll("`", "")); // it is written in Markdown

const element = (name, content = [], className = "") => {
  const made = document.createElement(name);
  made.className = className;
  made.append(...[content].flat());
  return made;
};

const resolved = (schema) => {
  const name = schema?.$ref?.split("/").pop();
  return name ? document_.components.schemas[name] : schema;
};

// The type of a field in a few words.
function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(", ");
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? { type: "anything" })}`;
  const { minimum, maximum, maxLength } = schema;
  let words = schema.type ?? "anything";
  if (minimum !== undefined && maximum !== undefined) words += ` from ${minimum} to ${maximum}`;
  if (maxLength !== undefined) words += ` of up to ${maxLength.toLocaleString("en")} characters`;
  return words;
}

function table(rows) {
  return element("table", rows.map(([name, type, about = ""]) =>
    element("tr", [
      element("td", element("code", name), "name"),
      element("td", type, "type"),
      element("td", about),
    ])));
}

const fields = (schema) =>
  table(Object.entries(schema.properties ?? {}).map(([name, field]) => [
    schema.required?.includes(name) ? name : `${name} ?`, typeOf(field), field.description,
  ]));

// type: of the body, if it has one; body: its schema, if it is JSON.
function example(path, type, body) {
  const url = `${location.origin}${path}`;
  if (!type) return `curl ${url}`;
  if (!body) return `curl ${url} -H 'Content-Type: ${type}' --data-binary @note.txt`;
  const given = Object.entries(body.properties ?? {})
    .filter(([name, field]) => field.examples || body.required?.includes(name))
    .map(([name, field]) => [name, field.examples?.[0] ?? []]);
  return `curl ${url} -H 'Content-Type: application/json' \\\n     -d '${JSON.stringify(Object.fromEntries(given))}'`;
}

function operation(path, method, described) {
  const content = described.requestBody?.content ?? {};
  const [type] = Object.keys(content);
  const body = resolved(content["application/json"]?.schema);
  const answer = resolved(described.responses["200"]?.content?.["application/json"]?.schema);
  const card = element("section", [
    element("h2", [element("span", `${method.toUpperCase()} `, "method"), path]),
    element("p", described.description ?? described.summary),
    element("h3", "Example"),
    element("pre", example(path, type, body)),
  ], "card operation");
  if (described.parameters)
    card.append(element("h3", "Parameters"), table(described.parameters.map(({ name, schema, description }) =>
      [`${name} ?`, typeOf(schema), description])));
  if (body) card.append(element("h3", "Request"), fields(body));
  if (answer) card.append(element("h3", "Response"), fields(answer));
  const refusals = Object.entries(described.responses).filter(([status]) => status >= 400);
  if (refusals.length)
    card.append(element("h3", "Errors"), table(refusals.map(([status, { description }]) => [status, description])));
  return card;
}

// The schemas of requests and responses.
function shapes() {
  const named = Object.entries(document_.components.schemas).filter(([name, { properties }]) =>
    properties && !/^(Predict|Render|Models|Labels)/.test(name));
  return named.map(([name, schema]) =>
    element("section", [element("h2", name), element("p", schema.description ?? ""), fields(schema)], "card operation"));
}

document.getElementById("about").textContent = document_.info.description;
document.getElementById("operations").append(
  ...Object.entries(document_.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, described]) => operation(path, method, described))),
  ...shapes(),
);
