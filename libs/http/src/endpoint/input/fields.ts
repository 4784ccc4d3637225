// Field types of request bodies: docs/conventions.md#16-field-types.

export { flag, integer, seconds, stringList, stringMap } from '@secrets/domain';
