/* cppcheck.h - what cppcheck must know of headers that it does not read. */
#define json_array_foreach(array, i, value)                                                        \
	for (i = 0; i < json_array_size(array) && (value = json_array_get(array, i)); i++)
#define json_object_foreach(object, key, value)                                                    \
	for (void *iter = json_object_iter(object);                                                \
	     iter && (key = json_object_iter_key(iter)) && (value = json_object_iter_value(iter)); \
	     iter = json_object_iter_next(object, iter))
