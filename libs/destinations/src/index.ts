export type { DestinationDescription } from './description.ts';
export { externalName } from './names/external-name.ts';
export { destinationTypes, findDescription } from './registry.ts';
export { mask, parseDestination } from './request/parse-destination.ts';
export { presentDestination } from './request/present-destination.ts';
export { builtInTags, ownerTag, prefixOfTags } from './tags/built-in-tags.ts';
export { cloudASm } from './types/clouda-sm.ts';
export { codehost } from './types/codehost.ts';
export { whyValueRefused } from './values/why-value-refused.ts';
