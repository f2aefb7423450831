// Requests to the service. Every error is a Refusal with a message for people.

export class Refusal extends Error {
  constructor(status, message, { retryAfter = null, answer = {} } = {}) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter; // seconds
    this.answer = answer; // all that the service said
  }
}

const always = {}; // headers of every request

export function useToken(given) {
  always.Authorization = `Bearer ${given}`;
}

export function useHeader(name, value) {
  always[name] = value;
}

// GET, or POST if there is a body.
export async function ask(path, { body, signal } = {}) {
  const headers = { ...always };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "The service does not answer. Is it still running?", { retryAfter: 3 });
  }
  const answer = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (response.ok) return answer;
  const retryAfter = Number(response.headers.get("Retry-After")) || null;
  const message = answer.message ?? `The service answered with ${response.status}.`;
  throw new Refusal(response.status, message, { retryAfter, answer });
}
