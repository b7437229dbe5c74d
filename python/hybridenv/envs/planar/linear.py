"""Linear algebra on matrices with the sparsity of a tree, written out number by number.

Source: Featherstone, "Rigid Body Dynamics Algorithms", 2008, section 6.5: a factorisation from the
leaves to the root fills nothing in.
"""

from jax import Array

from hybridenv.envs.planar.dynamics import Matrix, Vector
from hybridenv.envs.planar.model import Model


def factorize(model: Model, matrix: Matrix) -> Matrix:
    """Factorize a positive definite matrix into L' D L.

    Args:
        model: The mechanism, for its tree.
        matrix: The matrix.

    Returns:
        Inverses of the entries of D, and L without its diagonal of ones.
    """
    diagonal, rows = list(matrix.diagonal), [list(row) for row in matrix.rows]
    for k in range(model.nq - 1, -1, -1):
        diagonal[k] = 1 / diagonal[k]
        above = model.ancestors[k]
        scaled = [value * diagonal[k] for value in rows[k]]
        for n, i in enumerate(above):
            diagonal[i] = diagonal[i] - scaled[n] * rows[k][n]
            for m in range(n + 1, len(above)):
                rows[i][m - n - 1] = rows[i][m - n - 1] - scaled[n] * rows[k][m]
        rows[k] = scaled
    return Matrix(tuple(diagonal), tuple(tuple(row) for row in rows))


def solve(model: Model, factors: Matrix, right: Vector) -> Vector:
    """Solve for what the matrix takes to a vector.

    Args:
        model: The mechanism, for its tree.
        factors: From `factorize`.
        right: The vector.
    """
    x = list(right)
    for k in range(model.nq - 1, -1, -1):
        for n, i in enumerate(model.ancestors[k]):
            x[i] = x[i] - factors.rows[k][n] * x[k]
    for k in range(model.nq):
        x[k] = x[k] * factors.diagonal[k]
        for n, i in enumerate(model.ancestors[k]):
            x[k] = x[k] - factors.rows[k][n] * x[i]
    return tuple(x)


def multiply(model: Model, matrix: Matrix, vector: Vector) -> Vector:
    """Multiply a matrix with a vector.

    Args:
        model: The mechanism, for its tree.
        matrix: The matrix.
        vector: The vector.
    """
    found: list[Array] = [d * x for d, x in zip(matrix.diagonal, vector, strict=True)]
    for k, row in enumerate(matrix.rows):
        for value, i in zip(row, model.ancestors[k], strict=True):
            found[k] = found[k] + value * vector[i]
            found[i] = found[i] + value * vector[k]
    return tuple(found)
