export * from './built-in-tags.ts';
export * from './clouda-sm.ts';
export * from './description.ts';
export * from './external-name.ts';
export * from './name-template/name-variables.ts';
export * from './parse-destination.ts';
export * from './present-destination.ts';
export * from './registry.ts';
