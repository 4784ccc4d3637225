import { controlCharacters } from '@secrets/domain';

// What a path can contain (docs/conventions/http.md#paths), as patterns for the description of the API. They have no
// look-around, because generators of requests do not know it everywhere.

const other = `${controlCharacters}\\\\/`;

/** A segment that is neither `.` nor `..`. */
const segment = `(?:[^.${other}][^${other}]*|\\.(?:[^.${other}][^${other}]*|\\.[^${other}]+))`;

export const segmentPattern = `^${segment}$`;
export const segmentsPattern = `^${segment}(?:/${segment})*$`;
