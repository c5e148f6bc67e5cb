/*
 * The MD5 of a file, in hexadecimal: S3's ETag of an object that came by a form, so that a file is
 * told from another of its name without being sent [S3 API reference: Object]. Nothing else hangs
 * on it. As in RFC 1321; browsers have no MD5 of their own.
 */
"use strict";

const stackroomMd5 = (() => {
  const SLICE = 4 * 1024 * 1024;  // bytes at a time, between which the page lives on
  const SHIFTS = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
  const SINES = Uint32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));

  /* A block of 64 bytes into the state of four words. */
  const take = (state, view, at) => {
    let [a, b, c, d] = state;
    for (let i = 0; i < 64; i += 1) {
      const round = i >> 4;
      let mixed;
      let word;
      if (round === 0) { mixed = (b & c) | (~b & d); word = i; }
      else if (round === 1) { mixed = (d & b) | (~d & c); word = (5 * i + 1) & 15; }
      else if (round === 2) { mixed = b ^ c ^ d; word = (3 * i + 5) & 15; }
      else { mixed = c ^ (b | ~d); word = (7 * i) & 15; }
      const sum = (a + mixed + SINES[i] + view.getUint32(at + 4 * word, true)) | 0;
      const shift = SHIFTS[round][i & 3];
      a = d;
      d = c;
      c = b;
      b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
  };

  /* The last bytes, a one, zeros, and the length in bits. */
  const ending = (bytes, length) => {
    const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64));
    new Uint8Array(padded.buffer).set(bytes);
    padded.setUint8(bytes.length, 0x80);
    padded.setUint32(padded.byteLength - 8, (length * 8) >>> 0, true);
    padded.setUint32(padded.byteLength - 4, Math.floor(length / 2 ** 29), true);
    return padded;
  };

  return async (file) => {
    const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
    let start = 0;
    for (;;) {
      const bytes = new Uint8Array(await file.slice(start, start + SLICE).arrayBuffer());
      start += bytes.length;
      const isLast = start >= file.size || !bytes.length;
      const whole = isLast ? bytes.length - (bytes.length % 64) : bytes.length;
      const view = new DataView(bytes.buffer);
      for (let at = 0; at < whole; at += 64) take(state, view, at);
      if (!isLast) continue;
      const end = ending(bytes.subarray(whole), start);
      for (let at = 0; at < end.byteLength; at += 64) take(state, end, at);
      return [...new Uint8Array(state.buffer)].map((each) => each.toString(16).padStart(2, "0")).join("");
    }
  };
})();
