// wavetell_push_one as a function of Python's own: ctypes would take most of a microsecond of eight.
// Without Python's headers it is left out, and ctypes serves.

#if __has_include(<Python.h>)
#include <Python.h>

#include <cstdint>

extern "C" int64_t wavetell_push_one(void* engine, void* stream, const float* iq, int64_t samples, float* hops);

namespace {

PyObject* push_one(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
    if (count != 5) return PyErr_Format(PyExc_TypeError, "push_one takes 5 arguments, not %zd", count);
    void* const engine = PyLong_AsVoidPtr(arguments[0]);
    void* const stream = PyLong_AsVoidPtr(arguments[1]);
    const char* const iq = PyBytes_AsString(arguments[2]);
    const long long samples = PyLong_AsLongLong(arguments[3]);
    void* const hops = PyLong_AsVoidPtr(arguments[4]);
    if (PyErr_Occurred()) return nullptr;
    int64_t completed;
    Py_BEGIN_ALLOW_THREADS;
    completed = wavetell_push_one(engine, stream, reinterpret_cast<const float*>(iq), samples, static_cast<float*>(hops));
    Py_END_ALLOW_THREADS;
    return PyLong_FromLongLong(completed);
}

PyMethodDef methods[] = {
    {"push_one", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(push_one)), METH_FASTCALL, nullptr}, {}};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernel", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__kernel() { return PyModule_Create(&module); }
#endif
