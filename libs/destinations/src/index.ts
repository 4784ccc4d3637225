export * from './description.ts';
export * from './names/external-name.ts';
export * from './names/template/name-variables.ts';
export * from './registry.ts';
export * from './request/parse-destination.ts';
export * from './request/present-destination.ts';
export * from './tags/built-in-tags.ts';
export * from './types/clouda-sm.ts';
