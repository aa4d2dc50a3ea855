import assert from "node:assert/strict";
import { describe, it } from "node:test";

import { Backoff } from "../../src/backoff";

describe("the waits between starts", () => {
  it("grow, and end in giving up", () => {
    const backoff = new Backoff();
    const waits = [0, 1000, 4000, 9000, 18_000].map((now) => backoff.next(now));
    assert.deepEqual(waits, [500, 2000, 4000, 8000, undefined]);
    assert.equal(backoff.count, 5);
  });

  it("start small again for a server that ran for minutes", () => {
    const backoff = new Backoff();
    backoff.next(0);
    backoff.next(1000);
    assert.equal(backoff.next(1_000_000), 500);
  });

  it("start small again when the user asks", () => {
    const backoff = new Backoff();
    backoff.next(0);
    backoff.reset();
    assert.equal(backoff.next(1), 500);
  });
});
