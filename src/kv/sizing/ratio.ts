// Ratios as exact decimal fractions: 0.29 of 100 is 29, on every machine and in every language.
import { InputError } from "../../base/errors.js";

/** `numerator / denominator`, the decimal number that was written. @internal */
export interface Ratio {
  readonly numerator: bigint;
  readonly denominator: bigint; // a power of ten
}

/** The shortest decimal of a number in `[0, 1]`. Throws `InputError` (`config`) outside. @internal */
export function ratioOf(value: number, key: string): Ratio {
  if (!(value >= 0 && value <= 1))
    throw new InputError("config", `${key} is ${value}, expected a share from 0 to 1`, {
      path: `/${key}`,
    });
  const [mantissa = "0", exponent = "0"] = value.toString().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const digits = fraction.length - Number(exponent); // a number of at most 1 has no positive exponent
  return { numerator: BigInt(whole + fraction), denominator: 10n ** BigInt(digits) };
}

/** `floor(value * ratio)`; value is a safe integer of at least 0. @internal */
export function floorOf(value: number, { numerator, denominator }: Ratio): number {
  return Number((BigInt(value) * numerator) / denominator);
}

/** `ratio * tokens`, rounded up to whole pages of `page` tokens. @internal */
export function pagesUpOf(tokens: number, ratio: Ratio, page: number): number {
  const unit = ratio.denominator * BigInt(page);
  const pages = (BigInt(tokens) * ratio.numerator + unit - 1n) / unit;
  return Number(pages) * page;
}
