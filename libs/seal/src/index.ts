export * from './sealed.ts';
