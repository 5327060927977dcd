// Declarations of the generated validators (scripts/generate-schemas.mjs writes validators.js beside this file).

/** Whether a value has the shape that the operation table states. */
export type Validator = (value: unknown) => boolean;

/** Arguments, by operation. */
export const args: Readonly<Record<string, Validator>>;
/** Results, by operation. */
export const ok: Readonly<Record<string, Validator>>;
/** Refusals and broken contracts. */
export const err: Validator;
/** The effects of one operation. */
export const fx: Validator;
/** Component hashes. */
export const digest: Validator;
