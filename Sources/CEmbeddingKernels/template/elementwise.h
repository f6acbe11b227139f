/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of single numbers, and layer normalization. Part of kernels.h. */

/* Returns e to the power of x, for x up to 88. The relative error is below 2e-7; results below
 * 1e-37 become 1e-37. */
INLINE floats exponential(floats x) {
    x = larger(x, splat(-85));
    /* Adding this number rounds to an integer, which is then in the lowest bits. */
    const float round = 0x1.8p23f;
    floats shifted = multiply_add(x, splat(0x1.715476p0f), splat(round));
    floats power = shifted - round;
    /* The logarithm of 2 in two parts, of which the first has few bits. */
    floats rest = multiply_add(power, splat(-0x1.62e4p-1f), x);
    rest = multiply_add(power, splat(-0x1.7f7d1cp-20f), rest);
    floats sum = splat(1.f / 5040);
    sum = multiply_add(sum, rest, splat(1.f / 720));
    sum = multiply_add(sum, rest, splat(1.f / 120));
    sum = multiply_add(sum, rest, splat(1.f / 24));
    sum = multiply_add(sum, rest, splat(1.f / 6));
    sum = multiply_add(sum, rest, splat(0.5f));
    sum = multiply_add(sum, rest, splat(1));
    sum = multiply_add(sum, rest, splat(1));
    return as_floats(as_ints(sum) + ((as_ints(shifted) - 0x4B400000) << 23));
}

/*
 * The error function: a quotient of polynomials in x * x, fitted by weighted least squares to a
 * relative error of 2e-8 between 0 and 3.92. In single precision, the error is below 5e-7. Beyond
 * 3.92, the result is 1.
 */
INLINE floats error_function(floats x) {
    x = larger(smaller(x, splat(3.92f)), splat(-3.92f));
    floats square = x * x;
    floats above = splat(2.05010692e-06f);
    above = multiply_add(above, square, splat(2.84882248e-04f));
    above = multiply_add(above, square, splat(3.76556278e-03f));
    above = multiply_add(above, square, splat(5.27485568e-02f));
    above = multiply_add(above, square, splat(1.90405095e-01f));
    above = multiply_add(above, square, splat(1.12837915f));
    floats below = splat(3.80918952e-05f);
    below = multiply_add(below, square, splat(1.16252380e-03f));
    below = multiply_add(below, square, splat(1.49691070e-02f));
    below = multiply_add(below, square, splat(1.14108558e-01f));
    below = multiply_add(below, square, splat(5.02074863e-01f));
    below = multiply_add(below, square, splat(1));
    return x * above / below;
}

static void gelu(float *x, size_t count) {
    for (size_t index = 0; index < count; index += LANES) {
        floats value = load(x + index), half = value * 0.5f;
        store(x + index, multiply_add(half, error_function(value * 0x1.6a09e6p-1f), half));
    }
}

static void add_layer_norm(
    float *x, const float *addend, size_t count, size_t width, const float *gain, const float *shift, float epsilon) {
    for (size_t row = 0; row < count; row++, x += width) {
        floats sum = splat(0), squares = splat(0);
        for (size_t column = 0; column < width; column += LANES) {
            floats value = load(x + column);
            if (addend) {
                value += load(addend + column);
                store(x + column, value);
            }
            sum += value;
        }
        if (addend) addend += width;
        floats mean = splat(sum_of(sum) / (float)width);
        for (size_t column = 0; column < width; column += LANES) {
            floats difference = load(x + column) - mean;
            squares = multiply_add(difference, difference, squares);
        }
        floats inverse = splat(1 / __builtin_sqrtf(sum_of(squares) / (float)width + epsilon));
        for (size_t column = 0; column < width; column += LANES) {
            floats value = (load(x + column) - mean) * inverse;
            store(x + column, multiply_add(value, load(gain + column), load(shift + column)));
        }
    }
}
