import fc from 'fast-check';

const COUNT = 0x11_0000 - 0x800;

/** Any character, also a control character, but no half of one. The unit `binary` of fast-check takes a second to build. */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: COUNT - 1 }).map((index) => {
  // The simplest one is a space.
  const point = (index + 0x20) % COUNT;
  return String.fromCodePoint(point < 0xd800 ? point : point + 0x800);
});
