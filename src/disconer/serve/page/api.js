// Requests to the service. Every error is a Refusal with a message for people.

export class Refusal extends Error {
  constructor(status, message, retryAfter = null) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter; // seconds
  }
}

let token = "";

export function useToken(given) {
  token = given;
}

// GET, or POST if there is a body.
export async function ask(path, { body, signal } = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
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
    throw new Refusal(0, "The service does not answer. Is it still running?", 3);
  }
  const answer = await response.json().catch((error) => {
    if (error.name === "AbortError") throw error;
    return {};
  });
  if (response.ok) return answer;
  const seconds = Number(response.headers.get("Retry-After"));
  throw new Refusal(response.status, answer.message ?? `The service answered with ${response.status}.`, seconds || null);
}
